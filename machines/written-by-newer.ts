/** Something was written by a newer version. It is not broken: whoever runs that version can read it. */
export class WrittenByNewer extends Error {}
