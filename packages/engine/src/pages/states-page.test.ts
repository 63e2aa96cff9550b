import { expect, test } from 'vitest';
import { statesPage } from './states-page.ts';

test('the page of states says what the tables say', async () => {
  await expect(`${statesPage()}\n`).toMatchFileSnapshot('../../../../docs/reference/states.md');
});
