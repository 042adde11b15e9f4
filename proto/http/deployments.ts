import { z } from 'zod'
import { Deployment, mostDeploymentsListed } from '../deployments.ts'
import { answer } from './answer.ts'
import { backwards, forwards, span, whole } from './parameters.ts'

/** `GET /api/v1/deployments`, with times in seconds since 1970 as charts have them. */
export const DeploymentsQuery = z
  .strictObject({
    from: span.from,
    to: span.to,
    limit: whole(1, mostDeploymentsListed).default(100),
  })
  .refine(forwards, backwards)

/** Its answer, the newest first. */
export const DeploymentsAnswer = answer(z.array(Deployment), z.object({ count: z.int() }))

/** The body of a webhook of a repository host: what we know of it depends on the event. */
export const RepositoryHookBody = z.looseObject({})

/** `POST /api/webhooks/repository`: whether charts mark it from now on, and why not. */
export const RepositoryHookAnswer = answer(z.object({ kept: z.boolean(), reason: z.string().nullable() }), z.object({}))
