/** What parts of messages may have. */

/** Names and the like. */
export const SHORT = 1_000;
export const TOKEN_BYTES = 256;
/** JSON texts are bounded by the message itself; assignments carry what the server has accepted already. */
export const LONG = 16 * 1024 * 1024;
