/** A question of the agent with its possible answers. */
export interface Question {
  question: string
  options: readonly string[]
  /** Whether several options may be chosen. */
  isMany: boolean
  /** Whether the answer is free text. */
  isFree: boolean
}

const ratings = ['1', '2', '3', '4', '5']

export const readQuestion = (input: unknown): Question => {
  const { question = '', kind, options } = isRecord(input) ? input : {}
  const offered = Array.isArray(options) ? options.filter((each) => typeof each === 'string') : []
  const choices = kind === 'confirm' && offered.length === 0 ? ['Yes', 'No'] : kind === 'rating' ? ratings : offered
  return {
    question: String(question),
    options: [...new Set(choices)],
    isMany: kind === 'multi_choice',
    isFree: choices.length === 0,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
