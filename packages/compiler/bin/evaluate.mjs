// Loads one bundle and tells its parent, over the fourth pipe, what is in it. Not a part of the build: it must run as it is.
import { Socket } from 'node:net';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const exit = process.exit.bind(process);
// Made before user code is there: what that does to stdout, console or exit does not touch it.
const pipe = new Socket({ fd: 3, readable: false, writable: true });
let told = false;

function tell(answer) {
  if (told) return;
  told = true;
  pipe.end(JSON.stringify(answer), () => exit(0));
}

function describe(error) {
  const of = (key) => {
    try {
      return error?.[key];
    } catch {
      return undefined;
    }
  };
  const isError = error instanceof Error;
  return {
    name: isError ? String(of('name')) : 'Error',
    message: isError ? String(of('message')) : `${typeof error} was thrown: ${String(error)}`,
    stack: isError ? String(of('stack')) : '',
    reason: of('reason') === undefined ? null : String(of('reason')),
    remedy: typeof of('remedy') === 'string' ? of('remedy') : null,
    place: of(Symbol.for('signalbox.mistake')) === true ? of('place') : null,
  };
}

// Our parent ends us before this; if it is gone, nobody does.
setTimeout(() => exit(1), Number(process.argv[3]) + 5_000).unref();

process.on('uncaughtException', (error) => tell({ error: describe(error) }));
process.on('unhandledRejection', (error) => tell({ error: describe(error) }));

try {
  const { dags = [], functions = {} } = await import(pathToFileURL(process.argv[2]).href);
  tell({
    dags: dags.map(({ definition, files, place, places, groupPlaces }) => ({
      definition,
      files,
      place,
      places,
      groupPlaces,
    })),
    functions: Object.entries(functions).map(([name, value]) => ({ name, type: typeof value })),
  });
} catch (error) {
  tell({ error: describe(error) });
}
