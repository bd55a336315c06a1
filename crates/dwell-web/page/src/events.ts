/** Listeners by the name of what happens. */
export class Events<T extends Record<string, unknown>> {
  private readonly listeners = new Map<keyof T, Set<(value: never) => void>>();

  on<K extends keyof T>(what: K, listener: (value: T[K]) => void): () => void {
    const set = this.listeners.get(what) ?? new Set();
    this.listeners.set(what, set);
    set.add(listener as (value: never) => void);
    return () => set.delete(listener as (value: never) => void);
  }

  emit<K extends keyof T>(what: K, value: T[K]): void {
    for (const listener of this.listeners.get(what) ?? []) (listener as (value: T[K]) => void)(value);
  }
}
