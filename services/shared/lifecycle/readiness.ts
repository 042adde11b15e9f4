import type { Registry } from 'prom-client'
import { metrics } from '../telemetry/metrics.ts'
import type { Readiness } from './service.ts'

/** The readiness of a process: the conditions that its services require. */
export interface ProcessReadiness extends Readiness {
  /** Returns the names of unmet conditions; empty if the process is ready. */
  unmet(): string[]
  /**
   * Returns the problem of each condition by its name. A met condition may have a problem too, if a part of it fails.
   */
  problems(): Record<string, string>
  /** Returns all conditions, and whether each is unmet or has a problem. */
  conditions(): { name: string; isFailing: boolean }[]
}

/** Collects the readiness conditions of all services of a process. A condition whose check throws counts as unmet. */
export const openReadiness = (): ProcessReadiness => {
  const needs = new Map<string, { met: () => boolean; problem: () => string | undefined }>()
  return {
    require: (name, met, problem = () => undefined) => {
      if (needs.has(name)) throw new Error(`duplicate readiness check "${name}"`)
      needs.set(name, { met, problem })
    },
    unmet: () => [...needs].filter(([, { met }]) => !attempt(met)).map(([name]) => name),
    problems: () => Object.fromEntries([...needs].flatMap(([name, { problem }]) => toEntries(name, attempt(problem)))),
    conditions: () =>
      [...needs].map(([name, { met, problem }]) => ({
        name,
        isFailing: !attempt(met) || attempt(problem) !== undefined,
      })),
  }
}

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const toEntries = (name: string, problem: string | undefined): [string, string][] =>
  problem === undefined ? [] : [[name, problem]]

/** Adds a condition that is always met: `/readyz` and the metrics report its problem, but the process stays ready. */
export const reportProblem = (readiness: Readiness, name: string, problem: () => string | undefined): void =>
  readiness.require(name, () => true, problem)

/** Exports the metric of readiness conditions. */
export const exportReadiness = (readiness: Pick<ProcessReadiness, 'conditions'>, registry: Registry): void => {
  metrics.readinessProblems(registry, () =>
    readiness.conditions().map(({ name, isFailing }) => ({ labels: { condition: name }, value: isFailing ? 1 : 0 })),
  )
}
