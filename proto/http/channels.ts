import { z } from 'zod'
import { TestedTarget } from '../channels.ts'
import { answer } from './answer.ts'

/** `POST /api/v1/health/channels/{channel}/test`: to one of its targets, or to all of them. */
export const ChannelTestRequest = z.strictObject({ target: z.string().min(1).max(64).optional() })
/** How each send ended; one that failed is an answer like any other. */
export const ChannelTestAnswer = answer(z.array(TestedTarget), z.object({ count: z.int() }))
