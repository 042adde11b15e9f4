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

/** Why something does not have the shape that it must have: what is allowed, never what was given. */
export const reasonOf = (error: z.ZodError): string => {
  const reasons = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return fieldsAt(issue).map((field) => `${field} is not known here`)
    const sentence = issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
    return issue.path.length === 0 ? sentence : `${issue.path.join('.')} ${sentence}`
  })
  return [...new Set(reasons)].slice(0, mostReasons).join('; ')
}

/** The fields that an issue is about. */
export const fieldsAt = (issue: z.core.$ZodIssue): string[] => {
  const [field] = issue.path
  if (field !== undefined) return [String(field)]
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => key.slice(0, longestKey)) : []
}

const mostReasons = 5
const longestKey = 64
