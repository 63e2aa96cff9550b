import { describe, expect, test } from 'vitest';
import type { TaskSpec } from '../../model/dag/spec.ts';
import { type Attempt, reportOf, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const load = (maxActive?: number): TaskSpec => task('load', [], maxActive === undefined ? {} : { maxActive });

function open(box: Scenario): Attempt[] {
  const ended = new Set(box.changes('AttemptEnded').map(({ runId, taskNo }) => `${runId}/${taskNo}`));
  return box.effects.flatMap((effect) =>
    effect.kind === 'SendAssignment' && !ended.has(`${effect.claim.runId}/${effect.claim.taskNo}`)
      ? [box.attemptOf(effect)]
      : [],
  );
}

const names = (box: Scenario) => open(box).map(({ task: name }) => name);
const end = (box: Scenario, attempt: Attempt) => void box.feed(reportOf(attempt, 'succeeded'));

describe('maxActive of a task', () => {
  test('counts over all runs, and holds back no other task (I44, I47)', () => {
    const box = scenario({ dag: dag([load(1), task('free')]), runs: 3 });
    box.lend(box.worker(), 10, true);
    expect(names(box).toSorted()).toEqual(['free', 'free', 'free', 'load']);
    for (let left = 3; left > 0; left--) {
      const loading = open(box).filter(({ task: name }) => name === 'load');
      expect(loading).toHaveLength(1);
      end(box, loading[0]!);
    }
  });

  test('is that of the newest version, also for runs that began before (I46)', () => {
    const box = scenario({ dag: dag([load(1)]), runs: 4 });
    box.lend(box.worker(), 10, true);
    expect(names(box)).toHaveLength(1);
    box.deploy(dag([load(3)]));
    expect(names(box)).toHaveLength(3);
    box.deploy(dag([load(1)]));
    end(box, open(box)[0]!);
    expect(names(box)).toHaveLength(2);
    box.deploy(dag([load()]));
    expect(names(box)).toHaveLength(3);
  });

  test.each([
    [3, 1],
    [1, 3],
  ])('is that of its own version where the newest one has no such task: %i and %i (I44)', (older, newer) => {
    const box = scenario({ dag: dag([load(older)]), runs: 4 });
    box.deploy(dag([load(newer)]));
    box.submit({ count: 4 });
    box.deploy(dag([task('other')]));
    box.lend(box.worker(), 10, true);
    const versionOf = ({ claim }: Attempt) => (box.runIds.indexOf(claim.runId) < 4 ? older : newer);
    // All attempts of the task count, of both versions.
    expect(open(box).map(versionOf)).toEqual(older === 3 ? [3, 3, 3] : [1, 3, 3]);
    box.killOwner().lend(box.worker(), 10, true);
    expect(open(box)).toHaveLength(3);
    while (open(box).some((attempt) => versionOf(attempt) === older)) {
      end(box, open(box).find((attempt) => versionOf(attempt) === older)!);
      box.lend(box.worker(), 1, true);
    }
    expect(open(box)).toHaveLength(newer);
  });

  test('is known to the next owner, and free after a lost or refused attempt (I45)', () => {
    const box = scenario({ dag: dag([load(1)]), runs: 3 });
    const attempt = box.claim('load');
    box.killOwner();
    expect(box.tryClaim()).toBeNull();
    box.refuse(attempt);
    expect(box.tryClaim()).not.toBeNull();
    expect(box.tryClaim()).toBeNull();
  });
});

describe('maxActiveTasksPerRun', () => {
  const wide = (most: number) =>
    dag(
      ['a', 'b', 'c'].map((name) => task(name)),
      { maxActiveTasksPerRun: most },
    );

  test('limits each run by itself (I44, I47)', () => {
    const box = scenario({ dag: wide(1), runs: 3 });
    box.lend(box.worker(), 10, true);
    expect(names(box)).toEqual(['a', 'a', 'a']);
    const first = open(box)[0]!;
    end(box, first);
    expect(names(box).toSorted()).toEqual(['a', 'a', 'b']);
    expect(open(box).filter(({ claim }) => claim.runId === first.claim.runId)).toHaveLength(1);
  });

  test('is known to the next owner, and leaves nothing behind (I73)', () => {
    const box = scenario({ dag: wide(2), runs: 2 });
    box.lend(box.worker(), 10, true);
    expect(names(box)).toHaveLength(4);
    box.killOwner().lend(box.worker(), 10, true);
    expect(names(box)).toHaveLength(4);
    while (open(box).length > 0) end(box, open(box)[0]!);
    box.advance('1s');
    expect(box.changes('RunEnded')).toHaveLength(2);
    expect([...box.state.dags.byId.values()].flatMap(({ lanes }) => [...lanes.keys()])).toEqual([]);
  });
});
