/** The end of what a process said on stderr, for the error of its attempt. */
const MAX_BYTES = 4 * 1024;
const MAX_LINES = 10;

export class LastLines {
  #chunks: Buffer[] = [];
  #size = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#size - first.length < MAX_BYTES) return;
      this.#chunks.shift();
      this.#size -= first.length;
    }
  }

  lines(): readonly string[] {
    const text = Buffer.concat(this.#chunks).subarray(-MAX_BYTES).toString();
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-MAX_LINES);
  }
}
