/** How many attempts run at a time, whatever runs them. */
export class Slots {
  free: number;

  constructor(total: number) {
    this.free = total;
  }

  take(): boolean {
    if (this.free <= 0) return false;
    this.free--;
    return true;
  }

  release(): void {
    this.free++;
  }
}
