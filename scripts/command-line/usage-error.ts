/** A command line that cannot be understood: its sentence is shown with a hint at `--help`, and the exit code is 2. */
export class UsageError extends Error {}
