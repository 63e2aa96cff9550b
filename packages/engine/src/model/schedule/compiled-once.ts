/**
 * Specs that were compiled lately. A new schedule is compiled when it is checked, when its due time is computed and when it is put into
 * memory: the second and third time find it here. Speed only: a spec is plain data that nobody alters, so the answer is that of the compiler.
 */
import type { TimetableSpec } from './schedule-spec.ts';

/** More than one command creates. */
const KEPT = 4_096;

export class CompiledLately<Compiled extends { readonly ok: boolean }> {
  private readonly known = new Map<TimetableSpec, { readonly seed: string; readonly compiled: Compiled }>();

  once(spec: TimetableSpec, seed: string, compile: () => Compiled): Compiled {
    const before = this.known.get(spec);
    if (before?.seed === seed) return before.compiled;
    const compiled = compile();
    if (!compiled.ok) return compiled;
    if (this.known.size >= KEPT) this.known.clear();
    this.known.set(spec, { seed, compiled });
    return compiled;
  }
}
