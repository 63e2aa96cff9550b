// Which way an order goes is known only when it is there. The branch returns the names of the tasks that go on; the way that was
// not chosen is skipped, and the ways meet again in a task that is content with one of them.
//
//   npx signalbox runs trigger branch --params '{"amount":500}' --wait
import { dag } from '@signalbox/sdk';

export default dag<{ amount?: number } | null>('branch', ({ task }) => {
  const price = task('price', ({ params }) => ({ amount: params?.amount ?? 20 }));
  const route = task('route', { inputs: { amount: price.output.amount }, branch: true }, ({ inputs }) =>
    inputs.amount > 100 ? 'review' : 'ship',
  );
  const review = task('review', { needs: [route] }, () => 'somebody looked at it');
  const ship = task('ship', { needs: [route] }, () => 'on its way');
  task('thank', { when: 'tasks.price.output.amount >= 50' }, () => 'thank you');
  task('tell', { needs: [review, ship], rule: 'none_failed_min_one_success' }, ({ upstream }) =>
    Object.values(upstream),
  );
});
