import type { Definitions } from '../definitions/definitions.ts'
import type { Evaluator } from './evaluators/evaluator.ts'
import { evaluators } from './evaluators/index.ts'
import type { SqlMeasuredDefinition } from './plan.ts'

/** A rule or a metric, measured by a statement or by an evaluator. */
export interface MeasuredDefinition {
  id: string
  /** Unique across rules and metrics, which may share an id. */
  key: string
  measurable?: SqlMeasuredDefinition
  evaluator?: Evaluator
}

/** Rules and metrics by id. */
export interface MeasuredDefinitions {
  rules: ReadonlyMap<string, MeasuredDefinition>
  metrics: ReadonlyMap<string, MeasuredDefinition>
}

export const toMeasuredDefinitions = ({
  rules,
  metrics,
}: Pick<Definitions, 'rules' | 'metrics'>): MeasuredDefinitions => ({
  rules: byId(rules.map(knownRule)),
  metrics: byId(
    metrics.map((metric): MeasuredDefinition => {
      const key = `metric/${metric.name}`
      return { id: metric.name, key, measurable: { ...metric, key, columns: ['measured'], alone: false } }
    }),
  ),
})

const knownRule = ({ sql, evaluator: by, ...rule }: Definitions['rules'][number]): MeasuredDefinition => {
  const key = `rule/${rule.name}`
  const evaluator = by === undefined ? undefined : evaluators[by]
  return {
    id: rule.name,
    key,
    ...(sql !== undefined && { measurable: { ...rule, sql, key } }),
    ...(evaluator && { evaluator }),
  }
}

const byId = (known: readonly MeasuredDefinition[]): ReadonlyMap<string, MeasuredDefinition> =>
  new Map(known.map((each) => [each.id, each]))
