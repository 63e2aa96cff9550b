import { CHANGE_KINDS, nextRunId, type RunId, type ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { START } from '../changes.ts';
import { Generator } from './generator.ts';

const SHARDS = [5, 6] as ShardNo[];

function generatorOf(seed: number): Generator {
  const last = new Map<ShardNo, RunId>();
  const newRunId = (shard: ShardNo): RunId => {
    const runId = nextRunId(shard, last.get(shard) ?? (0 as RunId), START);
    last.set(shard, runId);
    return runId;
  };
  return new Generator({ seed, shards: SHARDS, start: START, newRunId });
}

test('every kind of change is drawn', () => {
  const kinds = new Set(
    generatorOf(1)
      .batch(6_000)
      .map(({ kind }) => kind),
  );
  expect([...kinds].sort()).toEqual(CHANGE_KINDS.map(({ kind }) => kind).sort());
});

test('a seed always gives the same kinds in the same order', () => {
  const kindsOf = () =>
    generatorOf(2)
      .batch(300)
      .map(({ kind }) => kind);
  expect(kindsOf()).toEqual(kindsOf());
});
