import { expect, test } from 'vitest';
import { scenario } from '../../testing/scenario.ts';
import { dag, every, task } from '../../testing/specs.ts';

test('a task that looks at its run is told of it, and of the window that it was made for; others are not', () => {
  const spec = dag([task('looks', [], { runInfo: true }), task('other')], { schedule: every('* * * * *') });
  const box = scenario({ dag: spec, runs: 0 });
  box.submit();
  box.advance('61s');
  while (box.tryClaim() !== null);
  const infos = box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect.runInfo] : []));
  const [window] = box.node.store.windows;
  const common = { createdAt: expect.any(Number), priority: 'normal' };
  expect(infos).toEqual([{ ...common, window: null }, null, { ...common, window: window?.firesAt }, null]);
});
