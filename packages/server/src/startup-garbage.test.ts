import { expect, test } from 'vitest';
import { collectGarbage } from './startup-garbage.ts';

test('what nothing refers to is collected at once', () => {
  const garbage = new WeakRef(Array.from({ length: 100_000 }, (_, i) => ({ i })));
  collectGarbage();
  // A WeakRef that was made in this job keeps its target until the job ends.
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      collectGarbage();
      expect(garbage.deref()).toBeUndefined();
      resolve();
    });
  });
});
