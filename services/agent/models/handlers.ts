import type { Handlers, Service } from '#proto/contract.ts'
import type { modelMethods } from '#proto/models.ts'
import type { Models } from './open.ts'

/** What callers are told of language models. */
export const modelHandlers = ({ models }: { models: Models }): Handlers<Service<typeof modelMethods>> => ({
  models: (_input, call) => models.offered(call),
  modelCheck: () => models.check(),
  modelSignIn: (_input, call) => models.signIn.state(call),
  beginModelSignIn: async (wanted, call) => ({ url: await models.signIn.begin(wanted, call) }),
  endModelSignIn: (sentBack, call) => models.signIn.end(sentBack, call),
  endModelSession: (_input, call) => models.signIn.forget(call),
})
