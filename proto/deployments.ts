import { z } from 'zod'
import { rpc } from './contract.ts'

const word = z.string().max(200)

/** A deployment: what was deployed, where and when. */
export const Deployment = z.object({
  /** The id of the deployment, which is the same in all webhooks about it. */
  id: z.string().min(1).max(300),
  /** `deployment`, `release` or `push`. A newer release may add values. */
  kind: z.string().max(32),
  repository: word,
  /** A tag, or a branch with its abbreviated commit. */
  version: word,
  /** The environment as named by the sender, such as `production`; null if it names none. */
  environment: word.nullable(),
  /** The outcome as named by the sender, such as `success`; null if unknown. */
  outcome: word.nullable(),
  title: z.string().max(300),
  /** The author as named by the sender. */
  by: word.nullable(),
  /** URL of a page with details. */
  url: z.string().max(2_048).nullable(),
  /** Time of the deployment in epoch milliseconds, by the clock of the sender. */
  atMs: z.int().min(0),
})
export type Deployment = z.infer<typeof Deployment>

/** Maximum stored deployments; the oldest are removed first. */
export const maxDeployments = 2_000
/** Maximum deployments in one response. */
export const maxDeploymentsListed = 200

/** Methods for deployments, which charts show as annotations. */
export const deploymentMethods = {
  storeDeployment: rpc({
    doc: 'Stores a deployment and replaces its earlier state.',
    callers: ['gateway'],
    input: Deployment,
    output: z.object({}),
  }),
  deployments: rpc({
    doc: 'Lists deployments, newest first.',
    callers: ['gateway', 'mcp'],
    feature: 'METRICS',
    safe: true,
    input: z.object({
      fromMs: z.int().min(0).optional(),
      toMs: z.int().min(0).optional(),
      limit: z.int().min(1).max(maxDeploymentsListed),
    }),
    output: z.array(Deployment),
  }),
}
