import type { Readiness } from '../service.ts'

/** What the process lacks to take work. */
export interface ProcessReadiness extends Readiness {
  /** Names of needs that are not met now; empty means ready. */
  unmet(): string[]
}

/** Collects the needs of all services of a process; a need whose check throws is not met. */
export const openReadiness = (): ProcessReadiness => {
  const needs = new Map<string, () => boolean>()
  return {
    require: (name, met) => {
      if (needs.has(name)) throw new Error(`the need ${name} is stated twice`)
      needs.set(name, met)
    },
    unmet: () => [...needs].filter(([, met]) => !holds(met)).map(([name]) => name),
  }
}

const holds = (met: () => boolean): boolean => {
  try {
    return met()
  } catch {
    return false
  }
}
