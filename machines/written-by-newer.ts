/** A newer version wrote the value. It is not broken: a process of that version can read it. */
export class WrittenByNewer extends Error {}
