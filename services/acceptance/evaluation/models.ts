import { z } from 'zod'
import {
  evaluationCases,
  formatQuestion,
  formatDiagnosis,
  hostNames,
  type Diagnosis,
} from '../../agent/evaluation/cases.ts'
import {
  countResponses,
  extractEvidenceIds,
  findLastQuestion,
  type ModelScript,
} from '../../agent/testing/model-script.ts'
import { createGatewayVariables, startScriptedGateway } from '../../agent/testing/scripted-gateway.ts'
import type { ChatRequest } from '../../agent/testing/strict-request.ts'
import { competentModel, createTextResponse } from './competent-model.ts'
import { type Contestant, evaluateAgent, type EvaluationOptions } from './evaluate.ts'

/** Maximum share of correct answers of a model that diagnoses nothing. */
export const maxBaselineShare = 0.25
/** The name of the scripted model that diagnoses the hosts. */
export const competentName = 'competent'

/**
 * Evaluates all scripted models, which tests the product and the evaluation without a real model. Returns the scores of
 * each model by its name, and the gateway with its requests.
 */
export const evaluateScripts = async (onScore?: EvaluationOptions['onScore']) => {
  await using gateway = await startScriptedGateway({ script: [{ say: [] }] })
  const contestants = Object.entries({ ...baselines, [competentName]: competentModel }).map(
    ([name, script]): Contestant => ({ name, prepare: () => gateway.play(script) }),
  )
  const scores = await evaluateAgent({
    variables: createGatewayVariables(gateway),
    contestants,
    ...(onScore && { onScore }),
  })
  const { requests, violations } = gateway
  return { scores: new Map([...scores].map(([{ name }, list]) => [name, list])), requests, violations }
}

/** Returns the value that occurs most often. */
const findMostCommon = <T>(values: readonly T[]): T => {
  const groups = Map.groupBy(values, (value) => JSON.stringify(value)).values()
  const [most] = [...groups].toSorted((one, other) => other.length - one.length)
  if (most?.[0] === undefined) throw new Error('there are no values')
  return most[0]
}

/** Returns the diagnosis that most of these cases expect. */
const findCommonDiagnosis = (cases: typeof evaluationCases): Diagnosis =>
  findMostCommon(cases.map(({ expected }) => expected))

/** Returns the first tools that need no arguments, at most `count`. */
const findCallableTools = ({ tools = [] }: ChatRequest, count: number): string[] => {
  const Parameters = z.looseObject({ required: z.array(z.string()).default([]) })
  return tools
    .filter(({ function: { parameters } }) => Parameters.parse(parameters).required.length === 0)
    .slice(0, count)
    .map(({ function: { name } }) => name)
}

/**
 * Returns a model that calls tools without reading the question, and pastes their results. Its diagnosis is the most
 * common cause, with the first table of the results.
 */
const createRetrievalModel =
  (maxTools: number): ModelScript =>
  (request) => {
    if (countResponses(request) === 0)
      return { say: findCallableTools(request, maxTools).map((call) => ({ call, with: {} })) }
    const results = request.messages.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []))
    const pasted = results.join(' ').replaceAll(/\s+/g, ' ').slice(0, maxPastedLength)
    const object = /"database":"(\w+)","table":"(\w+)"/.exec(results.join('\n'))
    const diagnosis = {
      cause: findMostCommon(evaluationCases.map(({ expected }) => expected.cause)),
      object: `${object?.[1] ?? ''}.${object?.[2] ?? ''}`,
      host: hostNames[0],
    }
    return createTextResponse(`${pasted} [${extractEvidenceIds(request).join(', ')}]\n\n${formatDiagnosis(diagnosis)}`)
  }

const maxPastedLength = 20_000
const maxRetrievedTools = 12

/** Models that do not diagnose anything. A good evaluation rejects nearly all of their answers. */
const baselines: Readonly<Record<string, ModelScript>> = {
  /** Repeats the question. */
  echo: (request) => createTextResponse(findLastQuestion(request)),
  /** Gives the diagnosis that most cases expect. */
  constant: () =>
    createTextResponse(`The diagnosis is always the same.\n\n${formatDiagnosis(findCommonDiagnosis(evaluationCases))}`),
  /** Has memorised the most common diagnosis of each question, but reads no host. */
  memorised: (request) => {
    const cases = evaluationCases.filter((each) => formatQuestion(each) === findLastQuestion(request))
    return createTextResponse(
      `The diagnosis depends on the question only.\n\n${formatDiagnosis(findCommonDiagnosis(cases))}`,
    )
  },
  empty: () => ({ say: [] }),
  /** Pastes the result of the first tool. */
  retrieval: createRetrievalModel(1),
  /** Pastes the results of all tools. */
  'wide retrieval': createRetrievalModel(maxRetrievedTools),
}
