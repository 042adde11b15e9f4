/** A question of the agent, and how it is answered. */
export interface Question {
  question: string
  options: readonly string[]
  /** Several may be chosen. */
  isMany: boolean
  /** In words of one's own. */
  isFree: boolean
}

const ratings = ['1', '2', '3', '4', '5']

export const readQuestion = (input: unknown): Question => {
  const { question = '', kind, options } = isRecord(input) ? input : {}
  const given = Array.isArray(options) ? options.filter((each) => typeof each === 'string') : []
  const choices = kind === 'confirm' && given.length === 0 ? ['Yes', 'No'] : kind === 'rating' ? ratings : given
  return {
    question: String(question),
    options: [...new Set(choices)],
    isMany: kind === 'multi_choice',
    isFree: choices.length === 0,
  }
}

const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null
