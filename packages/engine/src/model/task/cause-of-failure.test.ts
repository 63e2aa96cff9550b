import { describe, expect, test } from 'vitest';
import { scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';
import { causeLine, scopeOf, shownCause } from './cause-of-failure.ts';
import { fingerprintOf } from './fingerprint.ts';

const EXIT = 'The process ended with exit code 1.';
const ended = (stderr: string, code = 'exit:1') => ({
  outcome: 'transient' as const,
  code,
  error: `${EXIT}\n${stderr}`,
});
const printOf = (
  failure: { outcome: 'transient' | 'permanent'; code: string; error: string },
  name = 'load',
  run = './load.sh',
) =>
  fingerprintOf({ ...failure, error: causeLine(failure) }, scopeOf({ name, work: { kind: 'process', run } }, failure));

describe('failures of processes', () => {
  test.each([
    [
      'the last line of stderr',
      ended('warming up\npsql: connection refused'),
      ended('starting\npsql: connection refused'),
    ],
    [
      'its numbers, ids, times and paths do not count',
      ended('2026-01-01T00:00:00Z row 7 of /tmp/a1/in.csv is bad'),
      ended('2027-02-03T04:05:06Z row 99 of /srv/b/in.csv is bad'),
    ],
    [
      'a trace is read to its error',
      ended('Error: no such table\n    at load (/a/x.js:1:2)\n    at main (/a/x.js:9:1)\n\nNode.js v22.1.0'),
      ended('Error: no such table\n    at load (/b/x.js:3:4)\n\nNode.js v24.0.0'),
    ],
    ['signs alone are no line', ended('disk full\n}\n^^^^\n---'), ended('disk full')],
  ])('%s: one fingerprint', (_, one, other) => {
    expect(printOf(one)).toBe(printOf(other));
  });

  test('another last line, command or task, or none at all, is another failure', () => {
    const [a, b, silent] = [ended('no such table'), ended('disk full'), { ...ended(''), error: EXIT }];
    const prints = [
      printOf(a),
      printOf(b),
      printOf(a, 'save'),
      printOf(a, 'load', './other.sh'),
      printOf(silent),
      printOf(silent, 'save'),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });

  test.each([
    ['one line', ended('psql: connection refused'), `${EXIT} psql: connection refused`],
    ['the last of many', ended('a\nb\nworst of all'), `${EXIT} worst of all`],
    ['none', { ...ended(''), error: EXIT }, EXIT],
    ['no process', { code: 'error:TypeError', error: 'boom\n  at x' }, 'boom'],
    ['nothing', { code: null, error: null }, null],
  ])('lists show %s', (_, failure, shown) => {
    expect(shownCause(failure)).toBe(shown);
  });

  test('a line of any length is cut', () => {
    expect(shownCause(ended('x'.repeat(8_000)))?.length).toBeLessThanOrEqual(300);
  });
});

describe('calls', () => {
  const call = (status: number, outcome: 'transient' | 'permanent', body: string) => ({
    outcome,
    code: `http:${status}`,
    error: `POST https://api.example.com/orders was answered with status ${status}.\n${body}`,
  });
  test('a service that is down is one cause for all tasks that call it', () => {
    expect(printOf(call(503, 'transient', ''), 'a', '')).toBe(printOf(call(503, 'transient', ''), 'b', ''));
  });
  test('what a service refuses is told apart by task and by what it says', () => {
    const prints = [
      printOf(call(422, 'permanent', '{"error":"no such customer"}'), 'a'),
      printOf(call(422, 'permanent', '{"error":"out of stock"}'), 'a'),
      printOf(call(422, 'permanent', '{"error":"no such customer"}'), 'b'),
      printOf(call(503, 'transient', '{"error":{"message":"shard 4 is read-only"}}'), 'a'),
      printOf(call(503, 'transient', '{"error":{"message":"too many connections"}}'), 'a'),
    ];
    expect(new Set(prints).size).toBe(prints.length);
    expect(printOf(call(422, 'permanent', '{"error":"order 17 is paid"}'), 'a')).toBe(
      printOf(call(422, 'permanent', '{"error":"order 18 is paid"}'), 'a'),
    );
  });
});

describe('in the engine', () => {
  const CAUSE = { tasks: 4, withinMs: 60_000, pauseMs: 5_000, maxPauseMs: 20_000 };
  const run = (errors: readonly string[]) => {
    const retry = { maxAttempts: 50, minMs: 1_000, baseMs: 1_000, maxMs: 1_000 };
    const box = scenario({ dag: job({ retry }), runs: errors.length, settings: { causeBreaker: CAUSE } });
    for (const error of errors) {
      const attempt = box.tryClaim();
      if (attempt === null) throw new Error('one for each');
      box.report(attempt, 'transient', { error: `${EXIT}\n${error}`, code: 'exit:1' });
    }
    return box;
  };
  const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

  test('twelve different failures of scripts trip no breaker; twelve of one cause do', () => {
    expect(run(words.map((word) => `cannot parse ${word}`)).changes('BreakerSet')).toEqual([]);
    expect(run(words.map((_, no) => `cannot reach 10.0.0.${no}`)).changes('BreakerSet')).toMatchObject([
      { state: 'open', error: `${EXIT} cannot reach 10.0.0.3` },
    ]);
  });

  test('a dead letter shows the line', () => {
    const box = scenario({ dag: job() });
    box.report(box.claim('job'), 'permanent', { error: `${EXIT}\nfirst\nlast words`, code: 'exit:1' });
    expect(box.changes('DeadLetterWritten')).toMatchObject([{ error: `${EXIT} last words`, code: 'exit:1' }]);
  });
});
