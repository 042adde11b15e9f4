import type { Message } from '../../messages/message.ts'
import type { SendResult } from '../channel.ts'
import type { Answer } from '../channel-request.ts'
import type { Written } from './template.ts'

/** A shape in which a kind of service takes messages. */
export interface Format {
  /** What is sent to an address that is as the operator gave it. */
  compose(composing: Composing): Composed
  /** What an answer means where the status alone does not say. */
  judge?: (answer: Answer) => SendResult | undefined
}

export interface Composing {
  message: Message
  address: URL
  /** What the operator's templates say in this markup; absent fields are the format's own. */
  write(escape: (text: string) => string): Written
  /** The same for the same message however often it is sent: letters and digits. */
  key: string
}

export interface Composed {
  url?: string
  method?: 'PUT'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body: object
}
