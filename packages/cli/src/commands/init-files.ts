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

interface TypePlaces {
  /** The folder of `@signalbox/sdk`, as a path from the folder that the file lies in; null when it is found by its name. */
  readonly sdk: string | null;
  /** The folder with `node` and other types, likewise; null when it is not known. */
  readonly types: string | null;
}

/** With the places of the types written out: `tsc` and editors find them though nothing is installed in the folder. */
export const tsconfig = ({ sdk, types }: TypePlaces): string =>
  `${JSON.stringify(
    {
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        ...(sdk === null
          ? {}
          : {
              paths: {
                '@signalbox/sdk': [`${sdk}/dist/index.d.ts`],
                '@signalbox/sdk/testing': [`${sdk}/dist/testing/index.d.ts`],
              },
            }),
        ...(types === null ? {} : { typeRoots: ['./node_modules/@types', types], types: ['node'] }),
      },
    },
    null,
    2,
  )}\n`;
