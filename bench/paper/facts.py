"""Figures printed in the tables of "Attention Is All You Need" (Vaswani et al., 2017): cited, never measured here."""

# Table 2: newstest2014, tokenised BLEU; training FLOPs by the paper's own formula.
OTHERS = [("ByteNet", "23.75", "", "", ""), ("Deep-Att + PosUnk", "", "39.2", "", "1.0e20"), ("GNMT + RL", "24.6", "39.92", "2.3e19", "1.4e20"),
          ("ConvS2S", "25.16", "40.46", "9.6e18", "1.5e20"), ("MoE", "26.03", "40.56", "2.0e19", "1.2e20"),
          ("Deep-Att + PosUnk, ensemble", "", "40.4", "", "8.0e20"), ("GNMT + RL, ensemble", "26.30", "41.16", "1.8e20", "1.1e21"),
          ("ConvS2S, ensemble", "26.36", "41.29", "7.7e19", "1.2e21")]
# recipe: (row, BLEU as printed, training hours on eight P100s)
TABLE2 = {"base-ende": ("base, EN-DE", "27.3", 12), "big-ende": ("big, EN-DE", "28.4", 84), "base-enfr": ("base, EN-FR", "38.1", 12),
          "big-enfr": ("big, EN-FR", "41.8 (the text of section 6.1 says 41.0)", 84)}
GPUS, SUSTAINED = 8, 9.5e12

# Table 3: recipe: (row, what changes, PPL, BLEU, millions of parameters as printed)
TABLE3 = {"base": ("base", "", 4.92, 25.8, 65),
          "a-h1": ("A", "h 1, d_k = d_v = 512", 5.29, 24.9, None), "a-h4": ("A", "h 4, d_k = d_v = 128", 5.00, 25.5, None),
          "a-h16": ("A", "h 16, d_k = d_v = 32", 4.91, 25.8, None), "a-h32": ("A", "h 32, d_k = d_v = 16", 5.01, 25.4, None),
          "b-dk16": ("B", "d_k 16", 5.16, 25.1, 58), "b-dk32": ("B", "d_k 32", 5.01, 25.4, 60),
          "c-n2": ("C", "N 2", 6.11, 23.7, 36), "c-n4": ("C", "N 4", 5.19, 25.3, 50), "c-n8": ("C", "N 8", 4.88, 25.5, 80),
          "c-d256": ("C", "d_model 256, d_k = d_v = 32", 5.75, 24.5, 28), "c-d1024": ("C", "d_model 1024, d_k = d_v = 128", 4.66, 26.0, 168),
          "c-ff1024": ("C", "d_ff 1024", 5.12, 25.4, 53), "c-ff4096": ("C", "d_ff 4096", 4.75, 26.2, 90),
          "d-dropout0.0": ("D", "P_drop 0.0", 5.77, 24.6, None), "d-dropout0.2": ("D", "P_drop 0.2", 4.95, 25.5, None),
          "d-smoothing0.0": ("D", "label smoothing 0.0", 4.67, 25.3, None), "d-smoothing0.2": ("D", "label smoothing 0.2", 5.47, 25.7, None),
          "e-learned": ("E", "learned positions", 4.92, 25.7, None),
          "big": ("big", "6 layers, 1024, 4096, h 16, P_drop 0.3, 300K steps", 4.33, 26.4, 213)}

# Table 4: labelled F1 on section 23 of the WSJ: (parser, training, F1)
TABLE4 = [("Vinyals & Kaiser et al. (2014)", "WSJ only", 88.3), ("Petrov et al. (2006)", "WSJ only", 90.4), ("Zhu et al. (2013)", "WSJ only", 90.4),
          ("Dyer et al. (2016)", "WSJ only", 91.7), ("Transformer, 4 layers", "WSJ only", 91.3), ("Zhu et al. (2013)", "semi-supervised", 91.3),
          ("Huang & Harper (2009)", "semi-supervised", 91.3), ("McClosky et al. (2006)", "semi-supervised", 92.1),
          ("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1), ("Transformer, 4 layers", "semi-supervised", 92.7),
          ("Luong et al. (2015)", "multi-task", 93.0), ("Dyer et al. (2016)", "generative", 93.3)]
