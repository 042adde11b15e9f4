import type { z } from 'zod'

const maxIssues = 5

/** Returns validation errors as one line with their keys: `columns.0.unit: expected …; sql: …`. */
export const describeIssues = (error: z.ZodError): string => {
  const sentences = error.issues.slice(0, maxIssues).map((issue) => {
    const key = issue.path.map(String).join('.')
    return key === '' ? issue.message : `${key}: ${issue.message}`
  })
  const more = error.issues.length - maxIssues
  return [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
