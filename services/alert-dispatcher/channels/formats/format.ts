import type { Message } from '../../messages/message.ts'
import type { SendResult } from '../channel.ts'
import type { ChannelResponse } from '../channel-request.ts'
import type { RenderedTemplates } from './template.ts'

/** Message format of a webhook service. */
export interface WebhookFormat {
  /** Returns the request for an address. */
  compose(context: RenderContext): RenderedRequest
  /** Classifies responses whose status alone is not enough. */
  classify?: (response: ChannelResponse) => SendResult | undefined
}

export interface RenderContext {
  message: Message
  address: URL
  /** Renders the operator's templates and escapes inserted values. For absent fields, formats use their own text. */
  write(escape: (text: string) => string): RenderedTemplates
  /** Idempotency key of letters and digits; the same for every attempt. */
  key: string
}

export interface RenderedRequest {
  url?: string
  method?: 'PUT'
  headers?: Readonly<Record<string, string>>
  /** The JSON body. */
  body: object
}
