/** H, I. Timers, requests while the database is gone. */
import type { Ask } from '../world/happening.ts';
import type { Process } from '../world/process.ts';
import type { Checker, Scene } from './checker.ts';

export function waits(scene: Scene): Checker {
  const { world, ledger } = scene;
  const open = new Map<number, { readonly ask: Ask; readonly process: Process; pausedMs: number }>();

  function checkDeadlines(): void {
    for (const [no, entry] of open) {
      const { ask, process } = entry;
      if (!process.isAlive) open.delete(no);
      else if (process.isPaused) open.delete(no);
      else if (world.now - ask.at > ask.deadlineMs * 1.01 + 1_500) {
        scene.fail(
          'I60',
          `request #${no} to ${ask.node} has no answer ${world.now - ask.at} ms after it, its deadline is ${ask.deadlineMs}`,
        );
      }
    }
  }

  /** A retry comes when its backoff is over, not much later. */
  function checkRetries(): void {
    const wellMs = scene.health.wellForMs();
    for (const run of ledger.live) {
      if (run.phase !== 'open' || run.isSetAside || !run.isAdmitted) continue;
      for (const task of run.tasks.values()) {
        if (task.state !== 'retrying') continue;
        const last = [...task.ended.values()].at(-1)!;
        const backoffMs = (last.retryAt ?? 0) - last.endedAt;
        if (wellMs < backoffMs + 30_000 || !isSomethingFree(run.spec.tasks[task.taskNo]!.queue)) continue;
        const limit = ledger.dags.get(run.created.dagId)?.spec.maxActiveTasks ?? null;
        if (limit === null && world.now - task.endedAt > backoffMs + 30_000) {
          scene.fail(
            'I53',
            `task ${run.created.runId}/${task.taskNo} ended at ${task.endedAt}, waits ${backoffMs} ms, and is not tried again`,
          );
        }
      }
    }
  }

  function isSomethingFree(queue: string): boolean {
    return world.workers.every(
      ({ life }) =>
        life?.isConnected &&
        life.phase === 'working' &&
        life.active.length < life.shape.slots &&
        life.shape.queues.some((name) => name === queue),
    );
  }

  return {
    invariants: ['I53', 'I60'],
    onHappening(happening) {
      if (happening.kind === 'asked') {
        const { ask } = happening;
        const process = world.nodes.find((node) => node.machine === ask.node)?.process;
        if (process !== undefined && !process.isPaused) open.set(ask.no, { ask, process, pausedMs: 0 });
      }
      if (happening.kind === 'told') open.delete(happening.ask.no);
    },
    onLook() {
      checkDeadlines();
      checkRetries();
    },
  };
}
