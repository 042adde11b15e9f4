import { modelSettings } from '../../agent/models/config.ts'
import {
  type AnswerScore,
  formatEvaluationReport,
  formatEvaluationTotals,
  isCorrectAnswer,
} from '../../agent/evaluation/score.ts'
import { type Contestant, evaluateAgent } from './evaluate.ts'
import { competentName, evaluateScripts, maxBaselineShare } from './models.ts'

const keys = ['LLM_API_KEY', 'GATEWAY_A_API_KEY', 'GATEWAY_B_API_KEY', 'GATEWAY_C_API_KEY']
/** Minimum share of correct answers of a real model. A correct answer has the expected diagnosis and proven figures. */
const minCorrectShare = 0.75

const progress = ({ name, text }: AnswerScore, contestant: Contestant): void =>
  void process.stderr.write(`${contestant.name}: ${name}: ${text.trim()}\n\n`)

/** Evaluates the configured model. Returns whether enough answers are correct and the hosts are unchanged. */
const evaluateModel = async (): Promise<boolean> => {
  const names = Object.keys(modelSettings)
  const variables = Object.fromEntries(names.flatMap((name) => valueOf(name)))
  const model = { name: variables.LLM_MODEL ?? 'the default model' }
  const scores = (await evaluateAgent({ variables, contestants: [model], onScore: progress })).get(model) ?? []
  process.stdout.write(`${formatEvaluationReport(model.name, scores)}\n`)
  const right = scores.filter(isCorrectAnswer).length
  return scores.every(({ noWrite }) => noWrite) && right >= minCorrectShare * scores.length
}

const valueOf = (name: string): [string, string][] => {
  const value = process.env[name]
  return value === undefined ? [] : [[name, value]]
}

/**
 * Evaluates the scripted models. Returns whether the competent one diagnoses each case, and the others at most the
 * allowed share.
 */
const evaluateScripted = async (): Promise<boolean> => {
  const { scores } = await evaluateScripts(progress)
  const isExpected = [...scores].map(([name, list]) => {
    process.stdout.write(
      name === competentName ? `${formatEvaluationReport(name, list)}\n` : `${name}: ${formatEvaluationTotals(list)}\n`,
    )
    const share = list.filter(isCorrectAnswer).length / list.length
    return name === competentName ? share === 1 : share <= maxBaselineShare
  })
  process.stdout.write('Set a key, such as LLM_API_KEY, to evaluate a real model.\n')
  return isExpected.every(Boolean)
}

const hasKey = keys.some((name) => (process.env[name] ?? '') !== '')
process.exitCode = (await (hasKey ? evaluateModel() : evaluateScripted())) ? 0 : 1
