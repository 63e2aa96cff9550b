import { expect, test } from 'vitest';
import { Places } from './places.ts';

test('one network takes a part of the places only, and what is given back is free again (I68)', () => {
  const places = new Places({ all: 3, ofNetwork: 2 });
  const [first, second] = [places.take('a'), places.take('a')];
  expect([first, second]).not.toContain(null);
  expect(places.take('a')).toBeNull();
  expect(places.take('b')).not.toBeNull();
  expect(places.take('c')).toBeNull();
  first!();
  first!(); // twice gives back one
  expect(places.take('c')).not.toBeNull();
  expect(places.take('c')).toBeNull();
  second!();
  expect(places.take('a')).not.toBeNull();
});
