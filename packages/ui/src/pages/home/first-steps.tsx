/** A server without dags: what to paste and type. */

import { Block } from '../../parts/json.tsx';
import { Card, Page } from '../../parts/page.tsx';

const EXAMPLE = `import { dag } from '@signalbox/sdk';

export default dag('hello', ({ task }) => {
  const greet = task('greet', () => ({ greeting: 'Hello, world!' }));
  task('shout', { inputs: { greeting: greet.output.greeting } }, ({ inputs }) => inputs.greeting.toUpperCase());
});`;

export function FirstSteps() {
  return (
    <Page title="Welcome to Signalbox" sub="This server has no DAGs yet. Two steps bring the first one.">
      <Card title="1. Write a DAG">
        <div className="stack tight">
          <p>
            Save this as <code>dags/hello.ts</code>, or run <code>signalbox init</code> for a folder with examples.
          </p>
          <Block text={EXAMPLE} language="script" />
        </div>
      </Card>
      <Card title="2. Deploy it">
        <div className="stack tight">
          <Block text="signalbox deploy dags/hello.ts" language="hash" />
          <p className="soft">The DAG shows here as soon as it is deployed. Then press Trigger.</p>
        </div>
      </Card>
    </Page>
  );
}
