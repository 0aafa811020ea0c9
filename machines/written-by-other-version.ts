/** Another version wrote the value. It is not damaged: a process of that version can read it. */
export class WrittenByOtherVersion extends Error {}
