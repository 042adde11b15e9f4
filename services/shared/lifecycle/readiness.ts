import type { Readiness } from './service.ts'

/** What the process lacks to take work. */
export interface ProcessReadiness extends Readiness {
  /** Names of needs that are not met now; empty means ready. */
  unmet(): string[]
  /** By name of a need, what is wrong with what it needs, in words; also where it is met and only a part of it fails. */
  problems(): Record<string, string>
}

/** Collects the needs of all services of a process; a need whose check throws is not met. */
export const openReadiness = (): ProcessReadiness => {
  const needs = new Map<string, { met: () => boolean; problem: () => string | undefined }>()
  return {
    require: (name, met, problem = () => undefined) => {
      if (needs.has(name)) throw new Error(`the need ${name} is stated twice`)
      needs.set(name, { met, problem })
    },
    unmet: () => [...needs].filter(([, { met }]) => !attempt(met)).map(([name]) => name),
    problems: () => Object.fromEntries([...needs].flatMap(([name, { problem }]) => named(name, attempt(problem)))),
  }
}

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const named = (name: string, problem: string | undefined): [string, string][] =>
  problem === undefined ? [] : [[name, problem]]
