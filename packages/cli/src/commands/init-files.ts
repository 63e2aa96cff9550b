/** What `signalbox init` writes. Each text is compiled, deployed and run by a test. */

export const typescriptDag = (name: string): string => `import { dag } from '@signalbox/sdk';

// A dag is tasks, and what they need of each other. What a task returns is JSON, and a typed input of the next ones.
export default dag<{ cups?: number } | null>('${name}', { description: 'Grinds, then brews.' }, ({ task }) => {
  const grind = task('grind', ({ params, log }) => {
    const cups = params?.cups ?? 1;
    log.info('grinding', { cups });
    return { grams: 16 * cups };
  });

  task(
    'brew',
    { inputs: { grams: grind.output.grams }, timeout: '30s', retries: { maxAttempts: 3 } },
    ({ inputs }) => \`coffee of \${inputs.grams} g\`,
  );
});
`;

export const typescriptTest = (name: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRun } from '@signalbox/sdk/testing';
import dag from './${name}.ts';

test('two cups take twice the coffee', async () => {
  const run = await testRun(dag, { params: { cups: 2 } });
  assert.equal(run.outcome, 'succeeded');
  assert.equal(run.task('brew').output, 'coffee of 32 g');
});
`;

export const yamlDag = (
  name: string,
): string => `# A dag is tasks, and what they need of each other. A task that is a command writes its output, as JSON, to $SIGNALBOX_OUTPUT.
name: ${name}
description: Grinds, then brews.
tasks:
  - name: grind
    run: |
      echo "grinding"
      echo '{"grams": 16}' > "$SIGNALBOX_OUTPUT"
  - name: brew
    inputs:
      grams: \${{ tasks.grind.output.grams }}
    run: echo "coffee of $INPUT_grams g"
    timeout: 30s
    retries: { maxAttempts: 3 }
`;

export const packageJson = (sdk: string): string =>
  `${JSON.stringify(
    {
      name: 'dags',
      private: true,
      type: 'module',
      // Types first: a wrong wire between tasks is found there, not when they are deployed.
      scripts: { test: 'tsc && tsx --test *.test.ts' },
      devDependencies: {
        '@signalbox/sdk': `file:${sdk}`,
        '@types/node': '^20.19.0',
        tsx: '^4.20.0',
        typescript: '>=5.9.0',
      },
    },
    null,
    2,
  )}\n`;

export const tsconfig = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: ['node'],
    },
  },
  null,
  2,
)}\n`;
