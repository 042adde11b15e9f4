/** A model gateway with scripted responses, for tests of the whole product. */
export { extractEvidenceIds, type ModelScript } from '../agent/testing/model-script.ts'
export {
  createGatewayVariables,
  type ScriptedGateway,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
