import type { z } from 'zod'

/** Something in a file that means nothing: where it stands and why, never what it says. */
export interface FileProblem {
  file: string
  /** `routes[2]`, or empty for the file as a whole. */
  entry: string
  reason: string
}

/** Takes down what is skipped. */
export type Report = (entry: string, reason: string) => void

/** Why something does not have the shape that it must have. The messages of zod name what is allowed and not what was given. */
export const reasonOf = (error: z.ZodError): string => {
  const reasons = error.issues.map(({ path, message }) => {
    const sentence = message.charAt(0).toLowerCase() + message.slice(1)
    return path.length === 0 ? sentence : `${path.join('.')}: ${sentence}`
  })
  return [...new Set(reasons)].slice(0, mostReasons).join('; ')
}

const mostReasons = 5
