import { z } from 'zod'
import { rpc } from './contract.ts'

const word = z.string().max(200)

/** Something that was put into use: what it was, where, and when. */
export const Deployment = z.object({
  /** The same for the same deployment however often its sender tells of it. */
  id: z.string().min(1).max(300),
  /** `deployment`, `release` or `push`; a newer release may know more. */
  kind: z.string().max(32),
  repository: word,
  /** What was put into use: a tag, or a branch with the beginning of its commit. */
  version: word,
  /** What the sender calls the place, such as `production`; null where it names none. */
  environment: word.nullable(),
  /** How it ended in the sender's word, such as `success`; null while that is not known. */
  outcome: word.nullable(),
  title: z.string().max(300),
  /** Who did it, as the sender calls them. */
  by: word.nullable(),
  /** Where there is more about it. */
  url: z.string().max(2_048).nullable(),
  /** Epoch milliseconds, by the clock of the sender. */
  atMs: z.int().min(0),
})
export type Deployment = z.infer<typeof Deployment>

/** Deployments that are kept at most; the oldest go first. */
export const mostDeployments = 2_000
/** Deployments that one answer has at most. */
export const mostDeploymentsListed = 200

/** Methods about what was put into use, which charts mark. */
export const deploymentMethods = {
  keepDeployment: rpc({
    doc: 'Keeps a deployment, in place of what was known of it before.',
    callers: ['gateway'],
    input: Deployment,
    output: z.object({}),
  }),
  deployments: rpc({
    doc: 'What was put into use, the newest first.',
    callers: ['gateway'],
    feature: 'METRICS',
    safe: true,
    input: z.object({
      fromMs: z.int().min(0).optional(),
      toMs: z.int().min(0).optional(),
      limit: z.int().min(1).max(mostDeploymentsListed),
    }),
    output: z.array(Deployment),
  }),
}
