/** The protocol imports nothing of ours, so its words for task states are a list of its own. This holds it to the engine's table. */
import { TASK_STATES as ENGINE_STATES, isTerminal } from '@signalbox/engine';
import { TASK_STATES, TERMINAL_TASK_STATES } from '@signalbox/protocol';
import { expect, test } from 'vitest';

test('the protocol has exactly the task states that the engine shows', () => {
  expect([...TASK_STATES].sort()).toEqual([...ENGINE_STATES].sort());
  expect([...TERMINAL_TASK_STATES].sort()).toEqual(ENGINE_STATES.filter(isTerminal).sort());
});
