import { modelSettings } from '../../agent/models/config.ts'
import { formatEvaluationReport, isCorrectAnswer, type AnswerScore } from '../../agent/evaluation/score.ts'
import { createGatewayVariables, startScriptedGateway } from '../../agent/testing/scripted-gateway.ts'
import { evaluateAgent } from './evaluate.ts'
import { createScenarioScript } from './scenario-script.ts'

const keys = ['LLM_API_KEY', 'GATEWAY_A_API_KEY', 'GATEWAY_B_API_KEY', 'GATEWAY_C_API_KEY']
/** Minimum share of correct answers of a real model. A correct answer names the cause and has evidence for it. */
const minCorrectShare = 0.75

const progress = ({ name, text }: AnswerScore): void => void process.stderr.write(`${name}: ${text.trim()}\n\n`)

/** Evaluates the configured model. Returns whether enough answers are correct and the host is unchanged. */
const evaluateModel = async (): Promise<boolean> => {
  const names = Object.keys(modelSettings)
  const variables = Object.fromEntries(names.flatMap((name) => valueOf(name)))
  const scores = await evaluateAgent({ variables, onScore: progress })
  process.stdout.write(`${formatEvaluationReport(variables.LLM_MODEL ?? 'the default model', scores)}\n`)
  const right = scores.filter(isCorrectAnswer).length
  return scores.every(({ noWrite }) => noWrite) && right >= minCorrectShare * scores.length
}

const valueOf = (name: string): [string, string][] => {
  const value = process.env[name]
  return value === undefined ? [] : [[name, value]]
}

/**
 * Evaluates a scripted model, which tests the product without a real model. Returns whether all answers are correct.
 */
const evaluateScript = async (): Promise<boolean> => {
  await using gateway = await startScriptedGateway({ script: [{ say: [{ text: 'yes' }] }] })
  const scores = await evaluateAgent({
    variables: createGatewayVariables(gateway),
    before: (scenario) => gateway.play(createScenarioScript(scenario)),
    onScore: progress,
  })
  process.stdout.write(
    `${formatEvaluationReport('the scripted model (set a key, such as LLM_API_KEY, to use a real one)', scores)}\n`,
  )
  return scores.every(isCorrectAnswer)
}

const hasKey = keys.some((name) => (process.env[name] ?? '') !== '')
process.exitCode = (await (hasKey ? evaluateModel() : evaluateScript())) ? 0 : 1
