/**
 * Property tests draw the same cases for the same code, so that CI says the same each time. `FRESH=1 npx vitest run property` draws new ones;
 * a failure prints its seed.
 */
import fc from 'fast-check';

if (process.env.FRESH !== '1') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_116 });
