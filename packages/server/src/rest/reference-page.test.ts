import { expect, test } from 'vitest';
import { metricsPage } from '../metrics/write.ts';
import { errorsPage, restPage } from './reference-page.ts';

test.each([
  ['rest', restPage],
  ['errors', errorsPage],
  ['metrics', metricsPage],
])('the page docs/reference/%s.md says what the table says', async (name, page) => {
  await expect(`${page()}\n`).toMatchFileSnapshot(`../../../../docs/reference/${name}.md`);
});
