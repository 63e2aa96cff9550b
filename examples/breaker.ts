// Twenty accounts on one ledger that is down. Their first attempts all fail; then one goes now and then to see, and the others wait
// without using up their attempts. Once one gets through, all of them are let go, a few at first.
//
//   npx signalbox runs trigger breaker --wait
//   npx signalbox breakers
import { dag } from '@signalbox/sdk';

/** Down for as many calls as this: the first of each account, and two probes. */
let callsUntilItIsBack = 22;

function ask(account: number): number {
  callsUntilItIsBack -= 1;
  if (callsUntilItIsBack >= 0) throw new Error(`account ${account}: connect ECONNREFUSED 10.0.0.7:5432`);
  return account * 100;
}

// The breaker of an error needs no word here. This one holds new tasks of the dag as well, whatever they fail with.
const breaker = { share: 0.9, window: '1m', minimum: 100, pause: '2s' } as const;

export default dag('breaker', { breaker, description: 'Many tasks on one dead thing.' }, ({ task }) => {
  const accounts = Array.from({ length: 20 }, (_, account) =>
    task(`account-${account}`, { retries: { maxAttempts: 6, baseMs: 200, maxMs: 1_000 } }, () => ask(account)),
  );
  task('sum', { needs: accounts }, ({ upstream }) => upstream.length);
});
