/** The format that this build speaks, in every message of either direction and between servers. */
export const WIRE_FORMAT = 1;
