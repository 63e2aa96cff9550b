/**
 * Bytes that are no message. The library would answer INTERNAL, as if the fault were the server's; a value that no parser takes
 * for a message reaches the handler instead, and is refused as INVALID_ARGUMENT.
 */
export const MALFORMED = 'malformed';

export function orMalformed(deserialize: (bytes: Buffer) => unknown): (bytes: Buffer) => unknown {
  return (bytes) => {
    try {
      return deserialize(bytes);
    } catch {
      return MALFORMED;
    }
  };
}
