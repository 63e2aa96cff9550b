import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Attempt, scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

describe('max_active_tasks', () => {
  const four = (maxActiveTasks: number | null) =>
    dag(
      ['a', 'b', 'c', 'd'].map((name) => task(name)),
      { maxActiveTasks },
    );

  test('no claim is made beyond it, and an end makes room in its own commit (I44, I45)', () => {
    const box = scenario({ dag: four(2) });
    const first = box.claim('a');
    box.claim('b');
    expect(box.tryClaim()).toBeNull();
    box.lend(box.worker(), 1, true);
    const { changes } = box.node.decide([{ kind: 'ReportAttempt', outcome: 'succeeded', ...reportParts(first) }]);
    expect(changes.map(({ kind }) => kind)).toEqual(['AttemptEnded', 'AttemptClaimed']);
  });

  test('holds over all runs of the dag, whatever their version and priority', () => {
    const box = scenario({ dag: job({ maxActiveTasks: 1 }), runs: 1 });
    box.claim('job');
    box.submit({ priority: 'critical' });
    box.deploy(job({ maxActiveTasks: 1, timeoutMs: 1_000_000 }));
    box.submit();
    expect(box.tryClaim()).toBeNull();
  });

  test.each<[string, (box: ReturnType<typeof scenario>, attempt: Attempt) => unknown]>([
    ['succeeds', (box, attempt) => box.report(attempt, 'succeeded')],
    ['fails', (box, attempt) => box.report(attempt, 'permanent')],
    ['is refused', (box, attempt) => box.refuse(attempt)],
    ['is lost', (box) => box.advance('16s')],
    ['times out', (box, attempt) => box.advance('61s', [attempt.worker])],
    ['leaves with its worker', (box) => box.leave()],
    ['is cancelled', (box, attempt) => [box.cancel(box.runIds[0]), box.report(attempt, 'cancelled')]],
    ['is set aside', (box) => box.strike(box.runIds[0], true)],
  ])('what an attempt took is free when it %s (I45)', (_, end) => {
    const box = scenario({ dag: job({ maxActiveTasks: 1, timeoutMs: 60_000 }), runs: 2 });
    end(box, box.claim('job'));
    expect(box.state.dags.get(box.dagId)!.runningTasks).toBe(0);
    expect(box.tryClaim(box.worker())).not.toBeNull();
  });

  test('lowering kills nothing, raising lets waiting work go at once (I46)', () => {
    const box = scenario({ dag: four(4) });
    const attempts = ['a', 'b', 'c'].map((name) => box.claim(name));
    box.deploy(four(1));
    expect(box.tryClaim()).toBeNull();
    box.report(attempts[0]!, 'succeeded');
    box.report(attempts[1]!, 'succeeded');
    expect(box.tryClaim()).toBeNull();
    expect(box.task('c').state).toBe('running');
    box.lend(box.worker(), 1, true);
    box.deploy(four(2));
    expect(box.task('d').state).toBe('running');
  });

  test('survives a handover: attempts that run through it are counted (I44)', () => {
    const box = scenario({ dag: four(2) });
    box.claim('a');
    box.claim('b');
    box.killOwner().heartbeat();
    expect(box.tryClaim()).toBeNull();
  });

  test('a task held back by a limit holds back no task that is not (I47)', () => {
    const box = scenario({ dag: job({ maxActiveTasks: 1, priority: 'critical' }), runs: 50 });
    const other = box.deploy(job({ priority: 'low' }), 'other');
    box.claim('job');
    box.submit({ dagId: other });
    expect(box.tryClaim()?.claim.runId).toBe(box.lastRun());
  });
});

describe('max_active_runs', () => {
  test('never more, and the oldest waiting run is next (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 2 }), runs: 5 });
    const isAdmitted = () => box.runIds.map((runId) => box.run(runId).admitted);
    expect(isAdmitted()).toEqual([true, true, false, false, false]);
    box.report(box.claim('job'), 'succeeded');
    expect(isAdmitted()).toEqual([true, true, true, false, false]);
    expect(box.tryClaim()?.claim.runId).toBe(box.runIds[1]);
    expect(box.tryClaim()?.claim.runId).toBe(box.runIds[2]);
    expect(box.tryClaim()).toBeNull();
  });

  test('is kept over a handover (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 3 });
    const attempt = box.claim('job');
    box.killOwner().submit();
    expect(box.runIds.map((runId) => box.run(runId).admitted)).toEqual([true, false, false, false]);
    box.report(attempt, 'succeeded');
    expect(box.tryClaim()?.claim.runId).toBe(box.runIds[1]);
  });

  test('a run that is opened again waits, whatever of it is left in a lane from before (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 2 }) });
    box.deploy(job({ maxActiveRuns: 2, queueTimeoutMs: 10_000 }));
    box.submit();
    box.submit();
    const [first, second, third] = [box.runIds[0]!, box.runIds[1]!, box.runIds[2]!];
    // Its entry stays in the lane, behind that of an older run.
    box.advance('10s');
    expect(box.run(second)).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.retry('job', second);
    expect(box.runIds.map((runId) => box.run(runId).admitted)).toEqual([true, false, true]);
    const attempt = box.claim('job');
    expect(attempt.claim.runId).toBe(first);
    expect(box.tryClaim()?.claim.runId).toBe(third);
    expect(box.tryClaim()).toBeNull();
    box.report(attempt, 'succeeded');
    expect(box.claim('job').claim.runId).toBe(second);
  });

  test('raised, it admits at once; lowered, it ends nothing (I46)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 4 });
    box.deploy(job({ maxActiveRuns: 3 }));
    expect(box.runIds.map((runId) => box.run(runId).admitted)).toEqual([true, true, true, false]);
    box.deploy(job({ maxActiveRuns: 1 }));
    box.report(box.claim('job'), 'succeeded');
    expect(box.runIds.slice(1).map((runId) => box.run(runId).admitted)).toEqual([true, true, false]);
  });
});

test('counted slots always equal live attempts, whatever happens (I44, I45)', () => {
  const moves = fc.constantFrom('submit', 'claim', 'succeed', 'fail', 'refuse', 'cancel', 'wait', 'kill', 'limit');
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 3 }), (script, limit) => {
      const spec = (maxActiveTasks: number) =>
        dag([task('a'), task('b'), task('c', [0], { retry: { maxAttempts: 2, baseMs: 0 } })], { maxActiveTasks });
      const box = scenario({ dag: spec(limit), audit: false });
      let allowed = limit;
      for (const [i, move] of script.entries()) {
        const running = box.state.dags.get(box.dagId)?.runningTasks ?? 0;
        const held = box.worker().holds[i % Math.max(1, box.worker().holds.length)];
        const attempt = held && { claim: held, worker: box.worker(), task: '' };
        if (move === 'submit') box.submit();
        else if (move === 'claim') {
          const claimed = box.tryClaim();
          if (running >= allowed) expect(claimed).toBeNull();
        } else if (move === 'cancel') box.cancel(box.runIds[i % box.runIds.length]);
        else if (move === 'wait') box.advance('16s');
        else if (move === 'kill') box.killOwner().heartbeat();
        else if (move === 'limit') box.deploy(spec((allowed = 1 + (i % 3))));
        else if (attempt && move === 'refuse') box.refuse(attempt);
        else if (attempt) box.report(attempt, move === 'succeed' ? 'succeeded' : 'transient');
        const counted = box.state.dags.get(box.dagId)?.runningTasks ?? 0;
        const live = box.node.store.runsStored().flatMap((run) => run.tasks.filter((row) => row.state === 'running'));
        expect(counted).toBe(live.length);
      }
    }),
    { numRuns: 60 },
  );
});

function reportParts({ claim, worker }: Attempt) {
  return { claim, workerId: worker.id, output: null, error: null, startedAt: null };
}
