/** The service and the cards of the tests of card data. */
import type { ServiceOptions } from '../../support/service.js'

/**
 * Outcomes that are not known are known soon; a pause of the machine of 3 s is no missing answer. The files of this folder share
 * one service.
 */
export const QUICK: ServiceOptions = {
  env: {
    LOG_LEVEL: 'debug',
    CNPJ_WITH_LETTERS: 'yes',
    RESULT_WAIT_MS: '5000',
    RECONCILE_DELAYS_MS: '1500,500',
    NETWORK_CONNECT_TIMEOUT_MS: '2000',
    NETWORK_AUTHORISE_TIMEOUT_MS: '5000',
    NETWORK_TIMEOUT_MS: '5000',
    // Every sale is sent while the network misbehaves.
    NETWORK_CIRCUIT_FAILURES: '1000000',
    NOT_FOUND_HORIZON_MS: '8000',
    HEARTBEAT_MS: '200',
    TAKEOVER_AFTER_MS: '800'
  }
}

export const APPROVED = '4024007153760060'
export const DECLINED = '4024007153760052'
/** Declined for good: `may_retry` is false. */
export const CANCELLED = '4024007153760037'
export const UNANSWERED = '4024007153760029'

/** A code that no process id, port, amount or time looks like. */
export const CVV = '0937'
