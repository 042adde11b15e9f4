import type { Setting } from '#shared/config/setting.ts'
import type { Channel } from '../../channels/channel.ts'

/** What a channel is called, and the variables that it reads. */
export type ChannelSpec = Pick<Channel, 'id' | 'settings' | 'address'>

/** A setting of a channel under the name that files and the API give it: `routingKey` stands for `…_ROUTING_KEY`. */
export interface Field {
  field: string
  variable: string
  setting: Setting<unknown>
}

/** What there is to settle of a channel besides its switch and its floor, which have fields of their own. */
export const fieldsOf = ({ id, settings }: ChannelSpec): Field[] => {
  const prefix = `HEALTH_ALERT_${inCapitals(id)}_`
  return Object.entries(settings)
    .filter(([variable]) => variable.startsWith(prefix))
    .map(([variable, setting]) => ({ field: fieldOf(variable.slice(prefix.length)), variable, setting }))
    .filter(({ field }) => field !== 'enabled' && field !== 'minSeverity')
}

const inCapitals = (id: string): string => id.replaceAll('-', '_').toUpperCase()

const fieldOf = (rest: string): string =>
  rest.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
