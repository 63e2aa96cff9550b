// Three tasks, one after the other. What a task returns is a typed input of the next: give `shout` the wrong field, and this
// file does not type-check.
//
//   npx signalbox runs trigger hello --params '{"name":"you"}' --wait
import { dag } from '@signalbox/sdk';

export default dag<{ name?: string } | null>(
  'hello',
  { description: 'Greets whoever is in the params.' },
  ({ task }) => {
    const greet = task('greet', ({ params }) => ({ greeting: `Hello, ${params?.name ?? 'world'}!` }));

    // Ends early when nobody wants the result any more.
    const rest = task('rest', { needs: [greet], timeout: '60s' }, async ({ signal, log }) => {
      log.info('resting for half a second');
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, 500);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      });
      return 'rested';
    });

    task('shout', { needs: [rest], inputs: { greeting: greet.output.greeting } }, ({ inputs }) =>
      inputs.greeting.toUpperCase(),
    );
  },
);
