import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Signature {
  /** Whether the secret signed the body, as it arrived, less than five minutes ago. */
  static boolean isSigned(String header, byte[] body, String secret) throws GeneralSecurityException {
    String sentAt = "";
    List<String> signatures = new ArrayList<>();
    for (String part : header.split(",")) {
      String[] pair = part.trim().split("=", 2);
      if (pair.length == 2 && pair[0].equals("t")) sentAt = pair[1];
      if (pair.length == 2 && pair[0].equals("v1")) signatures.add(pair[1]);
    }
    if (!sentAt.matches("\\d{1,12}")) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(sentAt)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((sentAt + ".").getBytes(UTF_8));
    byte[] expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(UTF_8);
    return signatures.stream().anyMatch(one -> MessageDigest.isEqual(one.getBytes(UTF_8), expected));
  }
}
