/**
 * Secrets belong to the worker: a variable SIGNALBOX_SECRET_<NAME>, or a file <NAME> in its secrets folder. They are read
 * when an attempt starts, so a changed file counts from the next attempt on. A task gets only the secrets that it names.
 *
 * A worker that serves several tenants has a folder for each, <tenant>/<NAME>, and no variables: those would be everybody's (I65).
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PermanentError } from '@signalbox/sdk';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const MAX_SECRET_BYTES = 64 * 1024;

export interface SecretSource {
  /** Holds a file for each secret, named as it is. */
  readonly folder: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export class Secrets {
  readonly #source: SecretSource;
  /** The worker serves several tenants. */
  isShared = false;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /** Throws a `PermanentError` that says what to set; it never holds a value. */
  valueOf(name: string, tenant: string): string {
    // A name is part of a path below.
    if (!NAME.test(name)) throw new PermanentError(`"${name.slice(0, 100)}" is not a valid secret name.`);
    if (this.isShared) return this.#valueOfTenant(name, tenant);
    const { folder, environment } = this.#source;
    const variable = environment[`SIGNALBOX_SECRET_${name}`];
    const value = variable ?? (folder === null ? null : readSecretFile(join(folder, name)));
    if (value !== null && value !== '') return value;
    const where =
      folder === null
        ? 'or start it with --secrets <folder> (SIGNALBOX_SECRETS)'
        : `or write the file ${name} of its secrets folder`;
    throw new PermanentError(
      `This worker ${value === '' ? 'has an empty secret' : 'does not have the secret'} ${name}: set SIGNALBOX_SECRET_${name} for it, ${where}.`,
    );
  }

  /** Those that a task names, by name. */
  of(names: readonly string[], tenant: string): ReadonlyMap<string, string> {
    return new Map(names.map((name) => [name, this.valueOf(name, tenant)]));
  }

  #valueOfTenant(name: string, tenant: string): string {
    const { folder } = this.#source;
    if (folder === null) {
      throw new PermanentError(
        `This worker serves several tenants and has no secrets: start it with --secrets <folder> (SIGNALBOX_SECRETS), with a folder for each tenant in it.`,
      );
    }
    // A name of a tenant may hold what a path must not.
    const place = encodeURIComponent(tenant);
    const value = place.startsWith('.') ? null : readSecretFile(join(folder, place, name));
    if (value !== null && value !== '') return value;
    throw new PermanentError(
      `This worker ${value === '' ? 'has an empty secret' : 'does not have the secret'} ${name} of tenant ${tenant}: write the file ${place}/${name} of its secrets folder.`,
    );
  }
}

function readSecretFile(path: string): string | null {
  try {
    const { size } = statSync(path);
    if (size > MAX_SECRET_BYTES) {
      throw new PermanentError(`The secret file ${path} has ${size} bytes; the limit is ${MAX_SECRET_BYTES}.`);
    }
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** What `secret()` does in an attempt: only what the task names. */
export function secretOf(named: ReadonlyMap<string, string>, name: string): string {
  const value = named.get(name);
  if (value !== undefined) return value;
  throw new PermanentError(`The task does not list the secret ${name}. Add it under "secrets" in its definition.`);
}
