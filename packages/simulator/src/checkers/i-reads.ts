/** I. Requests are answered by their deadline, whatever is gone. */
import type { Ask } from '../world/happening.ts';
import type { Process } from '../world/process.ts';
import type { Checker, Scene } from './checker.ts';

export function reads(scene: Scene): Checker {
  const { world } = scene;
  const open = new Map<number, { readonly ask: Ask; readonly process: Process }>();

  function checkDeadlines(): void {
    for (const [no, entry] of open) {
      const { ask, process } = entry;
      if (!process.isAlive || process.isPaused) open.delete(no);
      else if (world.now - ask.at > ask.deadlineMs * 1.01 + 1_500) {
        scene.fail(
          'I60',
          `request #${no} to ${ask.node} has no answer ${world.now - ask.at} ms after it, its deadline is ${ask.deadlineMs}`,
        );
      }
    }
  }

  return {
    invariants: ['I60'],
    onHappening(happening) {
      if (happening.kind === 'asked') {
        const { ask } = happening;
        const process = world.nodes.find((node) => node.machine === ask.node)?.process;
        if (process !== undefined && !process.isPaused) open.set(ask.no, { ask, process });
      }
      if (happening.kind === 'told') open.delete(happening.ask.no);
    },
    onLook: checkDeadlines,
  };
}
