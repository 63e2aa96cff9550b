import { expect, test } from 'vitest';
import { dagsText } from './greeting.ts';

test.each([
  [null, false, 'none yet'],
  [null, true, 'the examples; none of your own yet'],
  ['/home/me/dags', false, '/home/me/dags, watched: save a file and it is deployed'],
  ['/home/me/dags', true, '/home/me/dags, watched: save a file and it is deployed; and the examples'],
])('with the folder %j and examples %j, start says which dags there are', (folder, examples, said) => {
  expect(dagsText(folder, examples)).toBe(said);
});
